import type { SystemCalls } from './systemCalls.js';

/** The best calls that work on this machine. */
export async function loadSystemCalls(): Promise<SystemCalls> {
	if (process.platform === 'linux') {
		const { loadLinuxCalls } = await import('./linuxCalls.js');
		const calls = await loadLinuxCalls();
		if (calls !== undefined) return calls;
	}
	const { nodeCalls } = await import('./nodeCalls.js');
	return nodeCalls;
}
