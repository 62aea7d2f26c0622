// What 3-D Secure asks about the browser, within the limits of the API.

/** The header that browsers send for a page: a script cannot read its own. */
const acceptOfPages = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

export function browserFacts() {
  const { userAgent, language } = navigator;
  return {
    accept: acceptOfPages,
    userAgent: userAgent.slice(0, 2_048),
    language: language.slice(0, 35),
    javaEnabled: false,
    javaScriptEnabled: true,
    colorDepth: Math.min(Math.max(Math.round(screen.colorDepth) || 24, 1), 64),
    screenWidth: pixels(screen.width),
    screenHeight: pixels(screen.height),
    timeZoneOffset: new Date().getTimezoneOffset(),
  };
}

function pixels(count: number): number {
  return Math.min(Math.max(Math.round(count) || 0, 0), 999_999);
}
