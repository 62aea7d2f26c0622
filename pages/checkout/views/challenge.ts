// The payer's bank asks him to confirm. Its page is shown in a frame, which can do nothing to ours; where that does not work
// it gets a page of its own, and the browser comes back here from it.
import type { CheckoutFacts } from '../../../src/checkout/domain/checkout-page.ts';
import { existing, h } from '../../docs/elements.ts';
import type { Interaction } from '../progress.ts';
import { baseUrl } from '../session.ts';

export type Challenge = {
  show(interaction: Interaction): void;
  hide(): void;
};

/** What the bank's page may do: everything but leave its frame for ours. */
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
      // A page that has cut off whoever opened it goes on under the same policy: otherwise the window's name is lost on the way.
      location.assign(facts.shopOrigin === undefined ? `${starter}?alone=true` : starter);
    } else {
      // A frame cannot send the shop's page away: a page beside it can be opened.
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
