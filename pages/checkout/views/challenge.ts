// The 3-D Secure challenge. The bank's page runs in a sandboxed frame or, where that fails, on a page from which the browser
// returns here.
import type { CheckoutFacts } from '../../../src/checkout/domain/checkout-page.ts';
import { existing, h } from '../../docs/elements.ts';
import type { Interaction } from '../progress.ts';
import { baseUrl } from '../session.ts';

export type Challenge = {
  show(interaction: Interaction): void;
  hide(): void;
};

/** The bank's page may do everything but navigate the checkout. */
const allowed = 'allow-forms allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox';
const starter = `${baseUrl}checkout/challenge`;

export function connectChallenge(facts: CheckoutFacts, finished: () => void): Challenge {
  const place = existing('challenge-place', HTMLElement);
  let shown: { interaction: Interaction; frame: HTMLIFrameElement } | undefined;

  existing('elsewhere', HTMLButtonElement).addEventListener('click', () => {
    if (!shown) return;
    const task = JSON.stringify(shown.interaction);
    if (window.parent === window) {
      window.name = task;
      // A checkout without an opener needs the same opener policy on the next page, or the window's name is lost.
      location.assign(facts.shopOrigin === undefined ? `${starter}?alone=true` : starter);
    } else {
      // A frame cannot navigate the shop's page, so the bank's page opens in a new window.
      window.open(starter, task);
    }
  });
  addEventListener('message', ({ origin, source, data }) => {
    const isOurs = origin === location.origin && source !== null && source === shown?.frame.contentWindow;
    if (isOurs && data === 'challenge-finished') finished();
  });

  return {
    show(interaction) {
      if (shown?.interaction.url === interaction.url) return;
      const frame = h('iframe', {
        class: 'challenge',
        sandbox: allowed,
        title: facts.words.challenge.frame,
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
