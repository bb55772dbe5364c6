import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ExecutionContext } from 'ava';

/** Prints each datagram that arrives at a unix socket as a line of JSON. */
const receiver = `
import json, socket, sys
name = sys.argv[1]
own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
own.bind('\\0' + name[1:] if name[0] == '@' else name)
print('"bound"', flush=True)
while True: print(json.dumps(own.recv(4096).decode()), flush=True)
`;

/** The service manager's end of the socket. The result resolves to the next notification that matches. */
export async function serviceManager(t: ExecutionContext, address: string) {
	const child = spawn('python3', ['-c', receiver, address], { stdio: ['ignore', 'pipe', 'inherit'] });
	t.teardown(async () => {
		child.kill();
		await once(child, 'exit');
	});
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const read = async () => JSON.parse((await lines.next()).value ?? 'null') as string | null;
	t.is(await read(), 'bound');
	return async (expected: RegExp) => {
		for (;;) {
			const state = await read();
			if (state === null) throw new Error(`The service manager was never notified of ${expected}`);
			if (expected.test(state)) return state;
		}
	};
}
