import { limitedCommand } from '@stowage/plugin-api';
import { execa } from 'execa';

// A server that is about to be killed. It tells the id of the process group and lives on.
const { file, args, options } = limitedCommand('/bin/sh', ['-c', 'sleep 600 & echo started; wait'], {
	memoryBytes: 2 ** 30,
	priority: 'idle',
	endsWithInput: true,
});
const child = execa(file, args, { ...options, buffer: false, reject: false } as object);
child.stdout?.once('data', () => console.log(child.pid));
setInterval(() => {}, 60_000);
