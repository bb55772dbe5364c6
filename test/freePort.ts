import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A free port, for what listens on the same one again and again. */
export async function freePort(): Promise<number> {
	const listener = createServer().listen(0, '127.0.0.1');
	await once(listener, 'listening');
	const { port } = listener.address() as AddressInfo;
	listener.close();
	await once(listener, 'close');
	return port;
}
