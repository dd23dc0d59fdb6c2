// Filters the tables of metrics by the words in a box: a row stays if it, or the heading of its table, has all of them. The rest of the page
// is hidden meanwhile.
const box = document.querySelector(".metric-filter")
const sections = [{ heading: document.querySelector(".md-content h1"), parts: [] }]
for (let next = box.parentElement.firstElementChild; next; next = next.nextElementSibling) {
  if (next.tagName === "H2") sections.push({ heading: next, parts: [next] })
  else if (next !== box && next.tagName !== "H1") sections.at(-1).parts.push(next)
}
const listRows = part => [...part.querySelectorAll("tr:has(td > span[hidden])")]

function filterRows() {
  const words = box.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean)
  let found = 0
  for (const { heading, parts } of sections) {
    const matching = new Set()
    for (const part of parts) {
      for (const row of listRows(part)) {
        const text = `${row.textContent} ${heading.textContent}`.toLowerCase()
        row.hidden = !words.every(word => text.includes(word))
        if (!row.hidden) matching.add(part)
        found += !row.hidden
      }
    }
    for (const part of parts) part.hidden = words.length > 0 && !matching.has(part) && !(part === heading && matching.size)
  }
  box.querySelector("[role=status]").textContent = words.length ? `${found} found` : ""
}

box.querySelector("input").addEventListener("input", filterRows)
box.hidden = false
