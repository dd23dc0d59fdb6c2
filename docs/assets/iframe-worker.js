// Browsers refuse a worker to a page that is read from a file, and search runs in one: there a frame stands in for it.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      this.frame = frame.contentWindow
      this.frame.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.frame.importScripts = (...urls) => urls.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve())
      this.ready = this.load(url)
    }

    load(url) {
      return new Promise((done, failed) => {
        const script = this.frame.document.createElement("script")
        script.src = url
        script.onload = done
        script.onerror = failed
        this.frame.document.body.appendChild(script)
      })
    }

    postMessage(data) {
      this.ready.then(() => this.frame.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
