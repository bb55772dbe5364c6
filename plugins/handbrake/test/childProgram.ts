import { limitedCommand } from '@stowage/plugin-api';
import { execa } from 'execa';

// Stands for a server that will be killed. Prints the id of its program's process group and keeps running.
const { file, args, options } = limitedCommand('/bin/sh', ['-c', 'sleep 600 & echo started; wait'], {
	memoryBytes: 2 ** 30,
	priority: 'idle',
	endsWithInput: true,
});
const child = execa(file, args, { ...options, buffer: false, reject: false } as object);
child.stdout?.once('data', () => console.log(child.pid));
setInterval(() => {}, 60_000);
