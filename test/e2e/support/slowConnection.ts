import { once } from 'node:events';
import net from 'node:net';

type Teardown = { teardown(end: () => Promise<void>): void };

/** Another address of a server, through which its answers come at so many bytes a second at most. It ends with the test. */
export async function slowWay(t: Teardown, url: string, bytesPerSecond: number): Promise<string> {
	const { hostname, port } = new URL(url);
	const sockets = new Set<net.Socket>();
	const way = net.createServer((near) => {
		const far = net.connect(Number(port), '127.0.0.1');
		for (const [socket, other] of [
			[near, far],
			[far, near],
		] as const) {
			sockets.add(socket);
			socket.on('error', () => {});
			socket.on('close', () => {
				sockets.delete(socket);
				other.destroy();
			});
		}
		near.pipe(far);
		far.on('data', (chunk) => {
			near.write(chunk);
			far.pause();
			setTimeout(() => far.resume(), (chunk.length / bytesPerSecond) * 1000);
		});
		far.on('end', () => near.end());
	});
	way.listen(0, '127.0.0.1');
	await once(way, 'listening');
	t.teardown(async () => {
		way.close();
		for (const socket of sockets) socket.destroy();
	});
	return `http://${hostname}:${(way.address() as net.AddressInfo).port}`;
}
