// What is pasted into the search: of an error its message alone, and of any text the words, as signs are operators there.
const MESSAGE = /^[^]*(?:Error|error|LimitExceeded|TokenRejected|UnsatisfiableSchema|UnsupportedSchema): (.+)/

document.addEventListener("paste", event => {
  const field = event.target
  if (!field.matches?.("[data-md-component=search-query]")) return
  const text = event.clipboardData.getData("text")
  const words = (MESSAGE.exec(text)?.[1] ?? text).match(/[\p{L}\p{N}_]{2,}|\p{N}/gu)
  if (!words) return
  event.preventDefault()
  field.setRangeText(words.join(" "), field.selectionStart, field.selectionEnd, "end")
  field.dispatchEvent(new Event("keyup")) // which the search listens to
})
