// Links to banks that wait longer for an answer than a busy machine takes. The program's own limits are tested in test/bank.
import { openLink, type OpenLink } from '../../../src/acquiring/adapters/http/link.ts';
import { waitMs } from '../../../tools/tests/waits.ts';

export const openPatientLink: OpenLink = (origin, connectMs) => {
  const link = openLink(origin, Math.max(connectMs, waitMs));
  return {
    ...link,
    ask: (request) => link.ask({ ...request, answerMs: Math.max(request.answerMs, waitMs) }),
  };
};
