// Runs SQL of pages in the browser, with DuckDB-WASM from the folder of the site. DuckDB is loaded on the first click, and no row leaves the browser.
const HERE = new URL("./", import.meta.url);
const ROWS_SHOWN = 200;
const QUERY = /^(\s|--.*\n|\/\*[\s\S]*?\*\/)*(select|with|from|values|describe|summarize|show|pivot|unpivot|table)\b/i;

let opened = null;

// Return the connection to DuckDB, which is loaded once.
function open() {
  opened ??= load().catch((error) => {
    opened = null;
    throw error;
  });
  return opened;
}

async function load() {
  const folder = new URL("duckdb/", HERE);
  const [library, packed] = await Promise.all([import(new URL("duckdb.mjs", folder)), fetchFile(new URL("duckdb.wasm.packed", folder))]);
  const plain = packed.body.pipeThrough(new DecompressionStream("gzip"));
  const program = await new Response(plain, { headers: { "Content-Type": "application/wasm" } }).blob();
  const database = new library.AsyncDuckDB(new library.VoidLogger(), new Worker(new URL("duckdb.worker.js", folder)));
  await database.instantiate(URL.createObjectURL(program));
  await database.open({});
  const connection = await database.connect();
  await connection.query("SET autoload_known_extensions = false");  // they would come from another host
  return { database, connection };
}

async function fetchFile(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname} cannot be read: ${response.status}`);
  return response;
}

// Run statements and return the last result as columns and rows of texts, NULL as null.
export async function run(sql) {
  const { connection } = await open();
  const text = sql.trim().replace(/;+$/, "");
  // Texts of DuckDB, because numbers of JavaScript hold neither large integers nor decimals.
  const result = await connection.query(QUERY.test(text) ? `SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (${text}\n)` : text);
  const columns = result.schema.fields.map((field) => field.name);
  const rows = result.toArray().map((row) => columns.map((name) => row[name]?.toString() ?? null));
  return { columns, rows };
}

function quote(name) {
  return `"${name.replaceAll('"', '""')}"`;
}

function quoteText(text) {
  return `'${text.replaceAll("'", "''")}'`;
}

// Make a table of the text of a CSV or JSON Lines file, and return its number of rows.
export async function addTable(name, file, text) {
  const { database, connection } = await open();
  const isJson = /\.(jsonl|ndjson|json)$/i.test(file);
  const records = isJson ? parseRecords(file, text) : [];
  const types = isJson ? inferTypes(records) : new Map();
  await database.registerFileText(file, isJson ? writeCsv(records, [...types.keys()]) : text);
  const columns = [...types].map(([column, type]) => `CAST(${quote(column)} AS ${type}) AS ${quote(column)}`);
  const options = isJson ? ", header = true, all_varchar = true, quote = '\"', escape = '\"', delim = ',', nullstr = '', allow_quoted_nulls = false" : "";
  await connection.query(
    `CREATE OR REPLACE TABLE ${quote(name)} AS SELECT ${columns.join(", ") || "*"} FROM read_csv(${quoteText(file)}${options})`,
  );
  const { rows } = await run(`SELECT COUNT(*) FROM ${quote(name)}`);
  return Number(rows[0][0]);
}

function parseRecords(file, text) {
  if (text.trimStart().startsWith("[")) return JSON.parse(text);
  const lines = text.split("\n").map((line, place) => [line.trim(), place + 1]);
  return lines.filter(([line]) => line).map(([line, number]) => {
    try {
      return JSON.parse(line);
    } catch (error) {
      throw new Error(`${file}, line ${number}: ${error.message}`);
    }
  });
}

// Return the type of DuckDB of each column of records.
function inferTypes(records) {
  const values = new Map();
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      if (!values.has(name)) values.set(name, []);
      values.get(name).push(value);
    }
  }
  return new Map([...values].map(([name, items]) => [name, inferType(items)]));
}

function inferType(items) {
  const known = items.filter((item) => item !== null);
  const isEach = (test) => known.length > 0 && known.every(test);
  if (isEach((item) => typeof item === "boolean")) return "BOOLEAN";
  if (isEach(Number.isSafeInteger)) return "BIGINT";
  if (isEach((item) => typeof item === "number")) return "DOUBLE";
  if (isEach(Array.isArray)) return `${inferType(known.flat())}[]`;
  return "VARCHAR";
}

function writeCsv(records, columns) {
  const lines = records.map((record) => columns.map((name) => writeCell(record[name])).join(","));
  return [columns.map((name) => writeCell(name)).join(","), ...lines, ""].join("\n");
}

function writeCell(value) {
  if (value === null || value === undefined) return "";
  const text = Array.isArray(value) ? writeList(value) : typeof value === "object" ? JSON.stringify(value) : String(value);
  return `"${text.replaceAll('"', '""')}"`;
}

function writeList(items) {
  return `[${items.map(writeItem).join(", ")}]`;
}

function writeItem(item) {
  if (item === null) return "NULL";
  if (Array.isArray(item)) return writeList(item);
  const text = typeof item === "object" ? JSON.stringify(item) : String(item);
  return typeof item === "number" || typeof item === "boolean" ? text : `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function showResult(output, { columns, rows }) {
  const cells = (row) => row.map((value) => element("td", value === null ? { textContent: "NULL", className: "null" } : { textContent: value }));
  const head = element("tr", {}, ...columns.map((name) => element("th", { textContent: name })));
  const body = rows.slice(0, ROWS_SHOWN).map((row) => element("tr", {}, ...cells(row)));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  const count = rows.length > ROWS_SHOWN ? `The first ${ROWS_SHOWN} of ${rows.length} rows.` : `${rows.length} row${rows.length === 1 ? "" : "s"}.`;
  output.replaceChildren(element("div", { className: "sql-rows" }, table), element("p", { textContent: count }));
  output.dataset.state = "done";
}

// Do work and show its result, or the error, below an editor.
async function show(output, work) {
  output.dataset.state = "running";
  output.replaceChildren(element("p", { textContent: opened ? "Running…" : "Loading DuckDB: 8 MB, once…" }));
  try {
    showResult(output, await work());
  } catch (error) {
    output.replaceChildren(element("pre", { textContent: error.message ?? String(error) }));
    output.dataset.state = "failed";
  }
}

// Return an editor of a statement, with a button that does something before it runs the statement.
function makeEditor(statement, prepare) {
  const text = element("textarea", { spellcheck: false });
  text.setAttribute("aria-label", "SQL statement");
  const output = element("div", { className: "sql-output" });
  output.setAttribute("aria-live", "polite");
  const start = () => show(output, async () => (await prepare(), run(text.value)));
  const button = element("button", { type: "button", className: "md-button", textContent: "Run", onclick: start });
  text.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && start());
  const setStatement = (sql) => Object.assign(text, { value: sql, rows: Math.min(sql.split("\n").length + 1, 24) });
  setStatement(statement);
  return { text, output, button, start, setStatement };
}

async function addFiles(urls) {
  for (const [name, url] of Object.entries(urls)) {
    const file = url.pathname.split("/").pop();
    await addTable(name, file, await (await fetchFile(url)).text());
  }
}

// Put a button under the example of a metric, which opens its statement over the tables of the example and runs it.
function addMetric(place) {
  const base = new URL(place.dataset.tables, document.baseURI);
  const urls = Object.fromEntries(place.dataset.names.split(" ").map((name) => [name, new URL(`${name}.csv`, base)]));
  const statement = document.querySelector(".duckdb-statement code")?.textContent.trim() ?? "";
  let added = null;
  const editor = makeEditor(statement, () => (added ??= addFiles(urls)));
  const first = element("button", { type: "button", className: "md-button", textContent: "Run in this page" });
  first.onclick = () => {
    place.replaceChildren(editor.text, editor.button, editor.output);
    editor.start();
  };
  place.replaceChildren(first);
}

// Put samples, a place for files and an editor on a page.
function addTrial(place) {
  const base = new URL(place.dataset.files, document.baseURI);
  const samples = JSON.parse(place.dataset.samples);
  let functions = null;
  const installFunctions = async () => {
    const { connection } = await open();
    functions ??= connection.query(await (await fetchFile(new URL("functions.sql", base))).text());
    await functions;
  };
  const editor = makeEditor(samples[0].statement, installFunctions);
  const tables = element("ul", { className: "sql-tables" });
  const listTable = async (name, rows) => {
    const described = await run(`DESCRIBE ${quote(name)}`);
    const columns = described.rows.map(([column, type]) => `${column} ${type}`).join(", ");
    tables.querySelector(`[data-table="${CSS.escape(name)}"]`)?.remove();
    const item = element("li", {}, element("code", { textContent: name }), `: ${rows} rows, ${columns}`);
    item.dataset.table = name;
    tables.append(item);
  };
  const useSample = (sample) => {
    editor.setStatement(sample.statement);
    show(editor.output, async () => {
      await installFunctions();
      for (const [name, file] of Object.entries(sample.tables)) {
        await listTable(name, await addTable(name, file, await (await fetchFile(new URL(file, base))).text()));
      }
      return run(sample.statement);
    });
  };
  const addDropped = (files) => show(editor.output, async () => {
    await installFunctions();
    let last = "";
    for (const file of files) {
      last = file.name.replace(/\.[^.]*$/, "").replace(/\W+/g, "_");
      await listTable(last, await addTable(last, file.name, await file.text()));
    }
    editor.setStatement(`FROM ${quote(last)} LIMIT 10`);
    return run(editor.text.value);
  });
  const buttons = samples.map((sample) => element("button", { type: "button", className: "md-button", textContent: sample.title, onclick: () => useSample(sample) }));
  const chosen = element("input", { type: "file", multiple: true, accept: ".csv,.tsv,.jsonl,.ndjson,.json" });
  chosen.onchange = () => addDropped([...chosen.files]);
  const drop = element("label", { className: "sql-drop" }, "Drop CSV or JSON Lines files here, or choose them: ", chosen);
  drop.ondragover = (event) => event.preventDefault();
  drop.ondrop = (event) => {
    event.preventDefault();
    addDropped([...event.dataTransfer.files]);
  };
  place.replaceChildren(element("p", { className: "sql-samples" }, ...buttons), drop, tables, editor.text, editor.button, editor.output);
}

document.querySelectorAll(".sql-run").forEach(addMetric);
document.querySelectorAll(".sql-try").forEach(addTrial);
