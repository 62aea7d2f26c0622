// What is read of an attempt to deliver, wherever it is listed.
export const attemptColumns = {
  position: 'int8',
  attempt: 'int4',
  event_type: 'text',
  attempted_at: 'timestamptz',
  duration_ms: 'int4',
  status: 'int4?',
  failure: 'text?',
} as const;
