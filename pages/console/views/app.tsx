// The console: which view an address shows, in the frame that all views share.
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { follow, place } from '../place.ts';
import { hasEnded, useRead, type SessionFacts } from '../read.ts';
import { locale, say } from '../words/words.ts';
import { Today } from '../today/today.tsx';
import { Enter, NoSession } from './enter.tsx';
import { ChooseParty, Frame } from './frame.tsx';
import { Banks, Jobs } from './operator.tsx';
import { Heading, Whole } from './parts.tsx';
import { PaymentPage } from './payment.tsx';
import { Payments } from './payments.tsx';
import { PayoutPage, Payouts } from './payouts.tsx';
import { SeriesList, SeriesPage } from './series.tsx';
import { WebhookPage, Webhooks } from './webhooks.tsx';

function Console() {
  useEffect(() => void (document.documentElement.lang = locale.value), [locale.value]);
  if (place.value.path[0] === 'enter') return <Enter />;
  return <InSession />;
}

function InSession() {
  const session = useRead<SessionFacts>('/session');
  if (hasEnded.value) return <NoSession />;
  if (session.is !== 'there')
    return (
      <main id="main" class="alone">
        <h1 class="off-screen">{say().title}</h1>
        <Whole of={session}>{() => null}</Whole>
      </main>
    );
  return (
    <Frame session={session.value}>
      <View session={session.value} key={place.value.query['party'] ?? ''} />
    </Frame>
  );
}

function View({ session }: { readonly session: SessionFacts }) {
  const [page = 'today', ...ids] = place.value.path;
  const [first, second] = ids;
  if (session.isOperator && page === 'jobs') return <Jobs />;
  if (session.isOperator && page === 'banks') return <Banks />;
  if (!session.party) return <ChooseParty />;
  if (page === 'payments' && first !== undefined && second !== undefined)
    return <PaymentPage key={ids.join('/')} invoiceId={first} paymentId={second} />;
  if (page === 'series' && first !== undefined && second !== undefined)
    return <SeriesPage invoiceId={first} paymentId={second} />;
  if (page === 'payouts' && first !== undefined) return <PayoutPage id={first} />;
  if (page === 'webhooks' && first !== undefined) return <WebhookPage id={first} />;
  if (ids.length > 0) return <NoPage />;
  if (page === 'today') return <Today mode={session.mode} />;
  if (page === 'payments') return <Payments mode={session.mode} />;
  if (page === 'payouts') return <Payouts />;
  if (page === 'webhooks') return <Webhooks />;
  if (page === 'series') return <SeriesList mode={session.mode} />;
  return <NoPage />;
}

function NoPage() {
  const { head, lead } = say().notFound;
  return <Heading text={head} lead={lead} />;
}

export function show(): void {
  const root = document.getElementById('console');
  if (!root) throw new Error('The page lacks its element.');
  document.addEventListener('click', follow);
  render(<Console />, root);
}
