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
    show(body.parentNode);
  };

  // Sorting and filtering reach all rows of a table; the first of those that match are shown.
  const show = (table) => {
    const input = document.querySelector(`[data-filter="${table.id}"]`);
    const words = (input?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const limit = Number(table.dataset.limit);
    let matches = 0;
    for (const row of table.tBodies[0].rows) {
      const text = words.length ? row.textContent.toLowerCase() : "";
      const isMatch = words.every((word) => text.includes(word));
      matches += isMatch;
      row.hidden = !isMatch;
      row.classList.toggle("rest", matches > limit);
    }
    const all = table.tBodies[0].rows.length;
    const shown = document.querySelector(`[data-shown="${table.id}"]`);
    if (shown) shown.textContent = `${Math.min(matches, limit)} of ${matches === all ? "" : `${matches} found in `}${all} rows`;
  };
  const showAll = (button) => {
    const table = document.getElementById(button.dataset.all);
    table.dataset.limit = table.tBodies[0].rows.length;
    show(table);
    button.remove();
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

  const download = (text, type, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    said.textContent = `Saved ${name}`;
  };
  const save = (button) => {
    // Panels stand one below the other in one file.
    const panels = [...document.querySelectorAll(`#${button.dataset.save} svg`)];
    const drawn = panels.length > 1 ? document.createElementNS("http://www.w3.org/2000/svg", "svg") : panels[0];
    let bottom = 0;
    for (const panel of panels.length > 1 ? panels : []) {
      const copied = panel.cloneNode(true);
      copied.setAttribute("y", bottom);
      bottom += Number(panel.getAttribute("height"));
      drawn.append(copied);
      drawn.setAttribute("height", bottom);
      drawn.setAttribute("width", Math.max(Number(drawn.getAttribute("width")), Number(panel.getAttribute("width"))));
    }
    download(new XMLSerializer().serializeToString(drawn), "image/svg+xml", `${button.dataset.save}.svg`);
  };
  // All rows that match the filter, with numbers as in the data; a text that a spreadsheet would compute is quoted by an apostrophe.
  const saveCsv = (button) => {
    const table = document.getElementById(button.dataset.csv);
    const field = (cell) => {
      const text = cell.dataset.value ?? cell.querySelector("bdi").textContent.replace(/^[=+\-@\t]/, "'$&");
      return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const rows = [table.tHead.rows[0], ...[...table.tBodies[0].rows].filter((row) => !row.hidden)];
    download(rows.map((row) => `${[...row.cells].map(field).join(",")}\n`).join(""), "text/csv", `${table.id}.csv`);
  };

  // The confusion matrix of a system at the threshold of the slider.
  for (const block of document.querySelectorAll(".thresholds")) {
    const [select, slider] = block.querySelectorAll("select, input");
    const draw = () => {
      const rows = JSON.parse(select.selectedOptions[0].dataset.rows);
      slider.max = rows.length - 1;
      const [threshold, tp, fp, tn, fn] = rows[Math.min(slider.value, rows.length - 1)];
      const rate = (part, all) => (all > 0 ? (part / all).toFixed(4) : "NULL");
      const parts = {
        tp: tp.toLocaleString("en"), fp: fp.toLocaleString("en"), tn: tn.toLocaleString("en"), fn: fn.toLocaleString("en"),
        precision: rate(tp, tp + fp), recall: rate(tp, tp + fn), specificity: rate(tn, tn + fp), f1: rate(2 * tp, 2 * tp + fp + fn),
        accuracy: rate(tp + tn, tp + fp + tn + fn),
      };
      for (const cell of block.querySelectorAll("[data-part]")) cell.textContent = parts[cell.dataset.part];
      block.querySelector(".threshold").textContent = threshold.toPrecision(4);
    };
    slider.max = JSON.parse(select.selectedOptions[0].dataset.rows).length - 1;
    slider.value = Math.floor(slider.max / 2);
    block.addEventListener("input", draw);
    draw();
  }

  // A link to a folded table unfolds it.
  const unfold = (hash) => {
    const fold = hash.length > 1 && document.getElementById(hash.slice(1))?.closest("details");
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", () => unfold(location.hash));
  unfold(location.hash);

  // Paper has no folds; a folded table stays away from it.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.section:not([open])")];
    for (const section of folded) section.open = true;
  });
  addEventListener("afterprint", () => { for (const section of folded) section.open = false; });

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) unfold(link.getAttribute("href"));
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches(".sort")) sort(button.closest("th"));
    else if (button.matches("[data-copy], [data-text]")) copy(button);
    else if (button.matches("[data-save]")) save(button);
    else if (button.matches("[data-csv]")) saveCsv(button);
    else if (button.matches("[data-all]")) showAll(button);
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter]")) show(document.getElementById(event.target.dataset.filter));
  });
})();
