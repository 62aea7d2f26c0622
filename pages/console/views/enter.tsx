// The page of a one-time link, and what is shown without a session.
import { useState } from 'preact/hooks';
import { addressOf, go } from '../place.ts';
import { hasEnded, send } from '../read.ts';
import { changeLanguage, say } from '../words/words.ts';
import { Heading, problemText } from './parts.tsx';

/** What follows the # is the link's secret. It leaves the address at once; a browser may still keep it in its history. */
let link = '';

export function Enter() {
  if (location.hash !== '') {
    link = location.hash.slice(1);
    history.replaceState(null, '', location.pathname);
  }
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const { enter } = say();

  async function open(): Promise<void> {
    if (isSending) return;
    setSending(true);
    const opened = await send('/session', { link });
    setSending(false);
    if (opened.is === 'problem') {
      const { code } = opened.problem;
      return setProblem(code === 'linkUnusable' ? enter.unusable : problemText(opened.problem));
    }
    hasEnded.value = false;
    go(addressOf(['today']));
  }

  if (link === '') return <NoSession />;
  return (
    <main id="main" class="alone">
      <Heading text={enter.head} lead={enter.lead} />
      <button class="main" type="button" onClick={() => void open()}>
        {enter.button}
      </button>
      <p class="problem" role="alert">
        {problem}
      </p>
      <Language />
    </main>
  );
}

export function NoSession() {
  const { enter } = say();
  return (
    <main id="main" class="alone">
      <Heading text={enter.endedHead} lead={enter.endedLead} />
      <pre>
        <code>mandate console link --party ID</code>
      </pre>
      <p class="soft">{enter.afterwards}</p>
      <Language />
    </main>
  );
}

export function Language() {
  return (
    <button class="quiet" type="button" onClick={changeLanguage}>
      {say().otherLanguage}
    </button>
  );
}
