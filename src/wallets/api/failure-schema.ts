// The schema of the failure of a transfer or a payout.
import { Type } from 'typebox';

const DeepestFailure = Type.Object({ code: Type.String() });
const InnerFailure = Type.Object({ code: Type.String(), subError: Type.Optional(DeepestFailure) });
const SubFailure = Type.Object({ code: Type.String(), subError: Type.Optional(InnerFailure) });
export const Failure = Type.Object(
  { code: Type.String(), subError: Type.Optional(SubFailure) },
  { title: 'PayoutFailure', description: 'Why it failed: a general code, with more specific codes inside.' },
);
