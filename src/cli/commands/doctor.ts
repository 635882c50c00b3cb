/** `trawl doctor`: look at everything that has to be right, and say what to do about what is not. */
import type { Command } from '../command.ts';

export const doctorCommand: Command = {
  usage: 'doctor',
  describe: 'Check server, topology, durability, clock, ports, disk and Node, and say what to do',
  examples: [
    ['$0 doctor', 'Exit code 1 if anything is wrong'],
    ['$0 doctor --nats-url nats://10.0.0.5:4222', 'Of another cluster'],
  ],
  sections: ['nats', 'local', 'general'],
  load: () => import('../effects/doctor.ts'),
};
