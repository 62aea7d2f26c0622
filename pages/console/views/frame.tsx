// The bar with the pages, and the line that a test console has and a live one has not.
import type { ComponentChildren } from 'preact';
import { addressOf, go, place } from '../place.ts';
import { hasEnded, send, type SessionFacts } from '../read.ts';
import { say } from '../words/words.ts';
import { Language } from './enter.tsx';
import { Heading, Link, Zone } from './parts.tsx';

const ofParty = ['today', 'payments', 'payouts', 'webhooks', 'series'] as const;
const ofOperator = ['jobs', 'banks'] as const;

export function Frame(props: { readonly session: SessionFacts; readonly children: ComponentChildren }) {
  const { mode, isOperator, party } = props.session;
  const [page = 'today'] = place.value.path;
  const words = say();
  const pages = isOperator ? [...ofParty, ...ofOperator] : ofParty;
  return (
    <div class="frame" data-mode={mode}>
      <a class="skip" href="#main">
        {words.skip}
      </a>
      <header>
        {mode === 'test' && <p class="test-mode">{words.test}</p>}
        <p class="name">
          Mandate
          {party && (
            <span class="party">
              <span class="off-screen">{words.party.shown}: </span>
              {party.name} {isOperator && <ChangeParty />}
            </span>
          )}
        </p>
        <nav aria-label={words.menu}>
          <ul>
            {pages.map((one) => (
              <li key={one}>
                <Link to={[one]} isCurrent={one === page}>
                  {words.nav[one]}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <p class="end">
          <Language />
          <button class="quiet" type="button" onClick={() => void leave()}>
            {words.leave}
          </button>
        </p>
      </header>
      <main id="main" tabIndex={-1}>
        {props.children}
        {page !== 'today' && <Zone />}
      </main>
    </div>
  );
}

/** No merchant has this ID, so the page asks for one. */
const noParty = '?';

async function leave(): Promise<void> {
  await send('/session/end', {});
  hasEnded.value = true;
}

function ChangeParty() {
  const choose = () => {
    const { path, query } = place.value;
    go(addressOf(path.slice(0, 1), { ...query, party: noParty }));
  };
  return (
    <button class="quiet" type="button" onClick={choose}>
      {say().party.change}
    </button>
  );
}

export function ChooseParty() {
  const { party } = say();
  function choose(event: SubmitEvent): void {
    event.preventDefault();
    const id = new FormData(event.currentTarget as HTMLFormElement).get('party');
    if (typeof id === 'string' && id.trim() !== '') go(addressOf(['today'], { party: id.trim() }));
  }
  return (
    <>
      <Heading text={party.head} lead={party.lead} />
      <form class="filters" onSubmit={choose}>
        <label>
          {party.label}
          <input name="party" autocomplete="off" spellcheck={false} required />
        </label>
        <button class="main" type="submit">
          {party.button}
        </button>
      </form>
    </>
  );
}
