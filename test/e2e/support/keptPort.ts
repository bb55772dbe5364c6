import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

/** A port for a server that is named before it listens, or listens again later: none that the system gives to others meanwhile. */
export async function keptPort(): Promise<number> {
	for (let tries = 0; tries < 100; tries++) {
		// Those that are given to whoever asks for any begin at 32768 on Linux, and above that elsewhere.
		const port = randomInt(20_000, 32_000);
		const server = net.createServer().listen(port, '127.0.0.1');
		const isFree = await once(server, 'listening').then(
			() => true,
			() => false,
		);
		if (!isFree) continue;
		server.close();
		await once(server, 'close');
		return port;
	}
	throw new Error('No port is free.');
}
