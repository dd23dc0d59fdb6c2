// The theme finds every word that begins with a word of a query. Leave out words that tell nothing, which "a" in "explain a score" would
// match everywhere, and prefer words that are typed in full, so that "AUC" finds AUC before AUC@k. Phrases of pages are also indexed as a
// whole (see website/keywords.py): "precision at k" and "precision@10" find the page that has just these words before others.
const STOP_WORDS = new Set("a an and are at by can do does for from how i if in is it its my of on or should that the this to what when where which why with".split(" "))
const EXACT = "^3"
const PHRASE = "^100"

function joinPhrase(words) {
  return "_" + words.map(word => /^\d+$/.test(word) ? "k" : word).join("_")
}

function spellQuery(query) {
  if (/["+~^:*]|(?:^|\s)-(?!-)/.test(query)) return query // the reader uses the syntax of the search
  const words = query.toLowerCase().split(/[\s\-@(),!=\[\]]+/).filter(Boolean)
  const told = words.filter(word => !STOP_WORDS.has(word))
  const used = told.length ? told : words
  const terms = used.map(word => word.length < 3 && words.length > 1 ? word + EXACT : `${word}${EXACT} ${word}`)
  return [...terms, joinPhrase(used) + PHRASE].join(" ")
}

const QUERY = 2 // the type of a message to the worker of the search
const post = Worker.prototype.postMessage
Worker.prototype.postMessage = function (message, ...rest) {
  return post.call(this, message?.type === QUERY ? { ...message, data: spellQuery(message.data) } : message, ...rest)
}
