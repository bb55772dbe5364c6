import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

/** A free port for a server that starts or restarts later. The system does not assign it to others meanwhile. */
export async function reservePort(): Promise<number> {
	for (let tries = 0; tries < 100; tries++) {
		// Ephemeral ports begin at 32768 on Linux, and higher on other systems.
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
