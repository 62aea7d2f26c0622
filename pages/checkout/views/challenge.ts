// The 3-D Secure challenge. The bank's page runs in a sandboxed frame or, where that fails, on a page from which the browser
// returns here.
import { existing, h } from '../../docs/elements.ts';
import type { Interaction } from '../progress.ts';

export type Challenge = {
  show(interaction: Interaction): void;
  hide(): void;
};

/** The bank's page may do everything but navigate the checkout. */
const allowed = 'allow-forms allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox';

export type ChallengePlace = {
  /** The title of the bank's frame, for screen readers. */
  readonly frame: string;
  /** The page that opens the bank's, under our own address. */
  readonly starter: string;
  /** Whether a shop's page opened this one and has a handle on it. */
  readonly hasOpener: boolean;
};

export function connectChallenge(
  { frame: title, starter, hasOpener }: ChallengePlace,
  finished: () => void,
): Challenge {
  const place = existing('challenge-place', HTMLElement);
  let shown: { interaction: Interaction; frame: HTMLIFrameElement } | undefined;

  existing('elsewhere', HTMLButtonElement).addEventListener('click', () => {
    if (!shown) return;
    const task = JSON.stringify(shown.interaction);
    if (window.parent === window) {
      window.name = task;
      // A checkout without an opener needs the same opener policy on the next page, or the window's name is lost.
      if (hasOpener) markOpener();
      location.assign(hasOpener ? starter : `${starter}?alone=true`);
    } else {
      // A frame cannot navigate the shop's page, so the bank's page opens in a new window.
      window.open(starter, task);
    }
  });
  addEventListener('message', ({ origin, source, data }) => {
    const isOurs = origin === location.origin && source !== null && source === shown?.frame.contentWindow;
    if (isOurs && data === 'challenge-finished') finished();
    // A sandboxed frame cannot take its parent back.
    if (isOurs && data === 'challenge-left') history.back();
  });

  return {
    show(interaction) {
      if (shown?.interaction.url === interaction.url) return;
      const frame = h('iframe', {
        class: 'challenge',
        sandbox: allowed,
        title,
        name: JSON.stringify(interaction),
        src: starter,
      });
      shown = { interaction, frame };
      place.replaceChildren(frame);
    },
    hide() {
      shown = undefined;
      place.replaceChildren();
    },
  };
}

/** The page on the way back from the bank then knows that a listed site opened this one. */
function markOpener(): void {
  try {
    sessionStorage.setItem('mandate.opener', 'true');
  } catch {
    // Without storage the window comes back as one that no site opened.
  }
}
