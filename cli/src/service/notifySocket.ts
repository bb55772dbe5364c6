import { getSystemErrorName } from 'node:util';
import { loadKoffi } from '../loadKoffi.js';

/** A message to the service manager, as in sd_notify(3): one `NAME=value` a line. */
export type Notify = (state: string) => Promise<void>;

const unixFamily = 1;
const datagram = 2;
const closeOnExec = 0o2000000;
const noSignal = 0x4000;
/** `sun_path` of `struct sockaddr_un`. */
const maxPath = 108;

/**
 * Opens a socket to the service manager at the address in `NOTIFY_SOCKET`: a path, or an abstract name after `@`. Node has no unix
 * datagrams, so the C library is called. Datagrams are sent one after another; a manager that reads none for a while does not hold up the
 * event loop. Throws for an address that is none, and where the library can't be called.
 */
export async function openNotifySocket(address: string): Promise<Notify> {
	const target = socketAddress(address);
	const koffi = loadKoffi();
	const libc = koffi.load(null);
	const fail = (call: string): never => {
		throw new Error(`${call} at ${address} failed: ${getSystemErrorName(-koffi.errno())}`);
	};
	const fd: number = libc.func('int socket(int, int, int)')(unixFamily, datagram | closeOnExec, 0);
	if (fd < 0) fail('socket');
	const sendto = libc.func('long sendto(int, const void*, size_t, int, const void*, uint)');
	const send = (state: string) =>
		new Promise<void>((resolve, reject) => {
			const bytes = Buffer.from(state);
			sendto.async(fd, bytes, bytes.length, noSignal, target, target.length, (error: unknown, sent: number) => {
				if (error) reject(error);
				else if (sent < 0) reject(new Error(`sendto at ${address} failed: ${getSystemErrorName(-koffi.errno())}`));
				else resolve();
			});
		});
	let last: Promise<void> = Promise.resolve();
	return (state) => {
		const sent = last.then(() => send(state));
		last = sent.catch(() => {
			// The failure is thrown to its sender; the next message is sent all the same.
		});
		return sent;
	};
}

/** `struct sockaddr_un`, as long as its name: the length of an abstract name is its end. */
function socketAddress(address: string): Buffer {
	const path = Buffer.from(address);
	if (!/^[/@]./.test(address) || path.length >= maxPath)
		throw new Error(`NOTIFY_SOCKET is no address of a unix socket: ${address}`);
	const isAbstract = path[0] === 0x40;
	if (isAbstract) path[0] = 0;
	const family = Buffer.alloc(2);
	if (new Uint8Array(new Uint16Array([unixFamily]).buffer)[0] === unixFamily) family.writeUInt16LE(unixFamily);
	else family.writeUInt16BE(unixFamily);
	return Buffer.concat([family, path, Buffer.alloc(isAbstract ? 0 : 1)]);
}
