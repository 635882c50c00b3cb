/** The README's commands for tasks and runs are run here, as they stand there. */
import t from 'tap';
import { runSections } from '../kit/readme.ts';

t.test('submitting, runs', { timeout: 170_000 }, (t) => runSections(t, 'Submitting', 'Runs'));
