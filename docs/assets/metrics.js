// Filters the tables of metrics by the words in a box: a row stays if it, or the heading of its table, has all of them.
const box = document.querySelector(".metric-filter")
const sections = [...document.querySelectorAll(".md-content h2")].map(heading => {
  const parts = []
  for (let next = heading.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) parts.push(next)
  return { heading, parts, rows: parts.flatMap(part => [...part.querySelectorAll("tbody tr:has(td > a > code)")]) }
}).filter(section => section.rows.length)

function filterRows() {
  const words = box.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean)
  let n_rows = 0
  for (const { heading, parts, rows } of sections) {
    for (const row of rows) {
      const text = `${row.textContent} ${heading.textContent}`.toLowerCase()
      row.hidden = !words.every(word => text.includes(word))
      n_rows += !row.hidden
    }
    const isEmpty = rows.every(row => row.hidden)
    heading.hidden = isEmpty
    for (const part of parts) {
      const own = rows.filter(row => part.contains(row))
      part.hidden = words.length > 0 && (own.length ? own.every(row => row.hidden) : true)
    }
  }
  box.querySelector("[role=status]").textContent = words.length ? `${n_rows} metrics` : ""
}

box.querySelector("input").addEventListener("input", filterRows)
box.hidden = false
