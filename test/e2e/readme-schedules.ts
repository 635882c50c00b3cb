/** The README's commands for dead letters and schedules are run here, as they stand there. */
import t from 'tap';
import { runSections } from '../kit/readme.ts';

t.test('dead letters, schedules', { timeout: 170_000 }, (t) => runSections(t, 'Dead letters', 'Schedules'));
