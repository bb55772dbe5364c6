import { spawnLimited } from '@stowage/plugin-api';

// A server that is about to be killed. It tells the id of the process group and lives on.
const child = spawnLimited('/bin/sh', ['-c', 'sleep 600 & echo started; wait'], {
	memoryBytes: 2 ** 30,
	priority: 'idle',
	endsWithInput: true,
});
child.stdout?.once('data', () => console.log(child.pid));
setInterval(() => {}, 60_000);
