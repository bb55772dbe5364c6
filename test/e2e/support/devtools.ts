import type { Page } from 'playwright-core';

/** What Chromium needs as root and without a screen, and nothing that it does by itself. */
export const chromiumFlags = [
	'--headless',
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/** Drops files or folders of the disk onto a point of the page, as from the desktop. */
export async function dropFromDisk(page: Page, at: { x: number; y: number }, files: string[]): Promise<void> {
	const session = await page.context().newCDPSession(page);
	const data = { items: [], files, dragOperationsMask: 1 };
	for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
		await session.send('Input.dispatchDragEvent', { type, ...at, data });
	}
	await session.detach();
}

interface TraceEvent {
	name: string;
	ph: string;
	pid: number;
	tid: number;
	/** Microseconds of the processor's time, in which other programs of the machine don't count. */
	tdur?: number;
	args: { name?: string };
}

/** The longest task of the main thread of any page, in milliseconds. */
export function longestTask({ traceEvents }: { traceEvents: readonly TraceEvent[] }): number {
	const thread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
	const mains = new Set(traceEvents.filter(({ args }) => args.name === 'CrRendererMain').map(thread));
	const tasks = traceEvents.filter(
		(event) => event.ph === 'X' && event.name.endsWith('RunTask') && mains.has(thread(event)),
	);
	return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur / 1000));
}
