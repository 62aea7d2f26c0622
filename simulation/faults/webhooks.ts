import type { Faults } from './fault.ts';

export const faultsOfWebhooks: Faults = {
  'delivered-in-reverse': {
    does: 'Waiting webhook events are sent in reverse order.',
    edits: [
      {
        within: 'loadItems',
        replace: 'const [first, ...others] = messages ?? [];',
        by: 'const [first, ...others] = [...(messages ?? [])].reverse();',
      },
    ],
  },
  'failure-counts-as-delivered': {
    does: 'A failed webhook delivery counts as delivered.',
    edits: [
      {
        within: 'failureOf',
        replace:
          'return response.status >= 200 && response.status < 300 ? undefined : `status ${response.status}`;',
        by: 'return undefined;',
      },
    ],
  },
  'feed-forgets-one': {
    does: 'The last event of each poll of the feed is not delivered.',
    edits: [
      {
        within: 'movesOf',
        replace: 'for (const event of events)',
        by: 'for (const event of events.length > 1 ? events.slice(0, -1) : events)',
      },
    ],
  },
  'event-passed-over': {
    does: 'After each delivered webhook event the next one is skipped.',
    edits: [
      {
        within: 'restOf',
        replace: 'const [, next, ...others] = messages;',
        by: 'const [, , next, ...others] = messages;',
      },
    ],
  },
  'queue-of-another-node': {
    does: 'A node writes to a queue whose lease it has lost.',
    edits: [
      {
        within: 'writeQueues',
        replace: 'where queue.wake_at = written.lease_end and queue.leased_until = written.lease_end',
        by: 'where written.lease_end is not null',
      },
    ],
  },
};
