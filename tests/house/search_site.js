// Pastes texts into the search of a built site, and prints the pages that it finds for each, best first, as JSON.
// node search_site.js SITE < texts.json
const fs = require("fs")
const path = require("path")
const vm = require("vm")

const scripts = path.join(process.argv[2], "assets/javascripts/workers")
const texts = JSON.parse(fs.readFileSync(0, "utf8"))
const run = file => vm.runInThisContext(fs.readFileSync(file, "utf8"))

// the page: what is in the field after a paste
let paste
globalThis.document = { addEventListener: (_, listener) => (paste = listener) }
run(path.join(process.argv[2], "search.js"))
function pasted(text) {
  const field = { value: text, matches: () => true, dispatchEvent() {}, setRangeText: words => (field.value = words) }
  paste({ target: field, clipboardData: { getData: () => text }, preventDefault() {} })
  return field.value
}

// the worker: a message, and its answer
let handle, answered
globalThis.self = globalThis
globalThis.addEventListener = (_, listener) => (handle = listener)
globalThis.postMessage = message => answered(message)
run(path.join(scripts, fs.readdirSync(scripts).find(name => /^search.*\.js$/.test(name))))
const ask = data => new Promise(resolve => { answered = resolve; handle({ data }) })

async function main() {
  const index = JSON.parse(fs.readFileSync(path.join(process.argv[2], "search/search_index.json"), "utf8"))
  await ask({ type: 0, data: { ...index, options: {} } }) // set up
  const found = []
  for (const text of texts) {
    const { data } = await ask({ type: 2, data: pasted(text) }) // a query
    found.push(data.items.map(sections => sections[0].location))
  }
  console.log(JSON.stringify(found))
}
main()
