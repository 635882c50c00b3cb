/** How many workers run on this machine, and how many machines all of them need. */
import t from 'tap';
import { spreadWorkers } from '../../src/policy/spread-workers.ts';

t.test('as many as fit run here', async (t) => {
  t.same(spreadWorkers({ wanted: 5, perMachine: 2 }), { here: 2, machines: 3 });
  t.same(spreadWorkers({ wanted: 4, perMachine: 2 }), { here: 2, machines: 2 });
  t.same(spreadWorkers({ wanted: 2, perMachine: 2 }), { here: 2, machines: 1 });
  t.same(spreadWorkers({ wanted: 0, perMachine: 2 }), { here: 0, machines: 1 });
  t.same(spreadWorkers({ wanted: 500, perMachine: 0 }), { here: 500, machines: 1 }, '0 is no limit');
});
