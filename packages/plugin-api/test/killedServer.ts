import { setTimeout } from 'node:timers/promises';
import { spawnLimited } from '../src/programs/limitedProgram.js';
import { findSandbox, type SandboxOptions } from '../src/programs/sandbox/findSandbox.js';

// Stands for a server that is killed while its program hangs: so many milliseconds after it has started that, or once it runs. Prints the
// id of the program's process group.
const [, , options = '', after = ''] = process.argv;
const sandbox = await findSandbox(JSON.parse(options) as SandboxOptions);
const args = ['-e', 'process.stdout.write("begun"); for (;;);'];
const { command, args: words } = sandbox?.wrap(process.execPath, args) ?? { command: process.execPath, args };
const child = spawnLimited(command, words, { memoryBytes: 2 ** 29 });
process.stdout.write(String(child.pid));
if (after === '') await new Promise((resolve) => child.stdout?.once('data', resolve));
else await setTimeout(Number(after));
process.kill(process.pid, 'SIGKILL');
