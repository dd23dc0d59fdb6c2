// The theme finds every word that begins with a word of a query. Leave out words that tell nothing, which "a" in "explain a score" would
// match everywhere, and prefer words that are typed in full, so that "AUC" finds AUC before AUC@k.
const STOP_WORDS = new Set("a an and are at by can do does for from how i if in is it its my of on or should that the this to what when where which why with".split(" "))
const EXACT = "^3"

function spellQuery(query) {
  if (/["+~^:*]|(?:^|\s)-/.test(query)) return query // the reader uses the syntax of the search
  const words = query.toLowerCase().split(/[\s\-@(),!=\[\]]+/).filter(Boolean)
  const told = words.filter(word => !STOP_WORDS.has(word))
  return (told.length ? told : words).map(word => word.length < 3 && words.length > 1 ? word + EXACT : `${word}${EXACT} ${word}`).join(" ")
}

const QUERY = 2 // the type of a message to the worker of the search
const post = Worker.prototype.postMessage
Worker.prototype.postMessage = function (message, ...rest) {
  return post.call(this, message?.type === QUERY ? { ...message, data: spellQuery(message.data) } : message, ...rest)
}
