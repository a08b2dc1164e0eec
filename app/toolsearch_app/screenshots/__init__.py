"""Pictures of the dashboard in a real browser, for the README; for maintainers, so no verb of the command line.

`stage` starts the dashboard and a browser, `scenes` names what is photographed, `material` makes what the pages show,
`take` photographs. The browser is the machine's own Chromium; nothing is downloaded.
"""
