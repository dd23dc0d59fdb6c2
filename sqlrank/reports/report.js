"use strict";
(() => {
  document.documentElement.classList.add("js");
  const said = document.getElementById("said");

  // A number sorts by its value, a text by its letters; NULL is last either way.
  const keyOf = (row, place) => {
    const cell = row.cells[place];
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    return text === "NULL" ? null : text;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const sort = (header) => {
    const body = header.closest("table").tBodies[0];
    const isFalling = header.getAttribute("aria-sort") === "ascending";
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", isFalling ? "descending" : "ascending");
    const keyed = [...body.rows].map((row) => [keyOf(row, header.cellIndex), row]);
    keyed.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : isFalling ? compare(b, a) : compare(a, b)));
    body.append(...keyed.map(([, row]) => row));
  };

  const filter = (input) => {
    const rows = [...document.getElementById(input.dataset.filter).tBodies[0].rows];
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const left = rows.filter((row) => !row.hidden).length;
    const shown = document.querySelector(`[data-shown="${input.dataset.filter}"]`);
    shown.textContent = left === rows.length ? `${left} rows` : `${left} of ${rows.length} rows`;
  };

  const byHand = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden";
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  };
  const copy = async (button) => {
    const text = button.dataset.text ?? document.getElementById(button.dataset.copy).textContent;
    let isDone = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      isDone = byHand(text);
    }
    const before = button.dataset.label ?? button.textContent;
    button.dataset.label = before;
    button.textContent = isDone ? "Copied" : "Select it by hand";
    said.textContent = button.textContent;
    button.focus();
    setTimeout(() => { button.textContent = before; }, 1500);
  };

  const save = (button) => {
    const drawn = document.querySelector(`#${button.dataset.save} svg`);
    const text = new XMLSerializer().serializeToString(drawn);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = `${button.dataset.save}.svg`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    said.textContent = `Saved ${link.download}`;
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches(".sort")) sort(button.closest("th"));
    else if (button.matches("[data-copy], [data-text]")) copy(button);
    else if (button.matches("[data-save]")) save(button);
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter]")) filter(event.target);
  });
})();
