// What requests run on, once it is opened.
import type { BackgroundWork } from './background-work.ts';
import type { Foundation } from './foundation.ts';
import type { Modules } from './modules.ts';

export type Opened = {
  readonly foundation: Foundation;
  readonly modules: Modules;
  readonly work: BackgroundWork;
  readonly publicUrl: () => string;
};
