import { once } from 'node:events';
import { connect } from 'node:net';

/** Whether a server accepts connections at a `host:port`. */
export async function isListening(address: string): Promise<boolean> {
	const { hostname, port } = new URL(`http://${address}`);
	const socket = connect(Number(port), hostname);
	try {
		await once(socket, 'connect');
		return true;
	} catch {
		return false;
	} finally {
		socket.destroy();
	}
}
