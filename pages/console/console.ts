// The script of the console.
import { show } from './views/app.tsx';

show();
