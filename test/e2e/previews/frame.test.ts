import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { flags } from '../support/browser.js';
import { setUpFixture, writeFiles } from '../support/fileManager.js';
import { paragraph, word } from '../support/previewFiles.js';
import { timeoutMs } from '../support/timeouts.js';

const fixture = setUpFixture(test);

interface Answer {
	id?: number;
	method?: string;
	result?: Record<string, unknown>;
	error?: { message: string };
	params?: { entry?: { text: string } };
}

/** A page of a separate Chromium without Playwright, which would put its own script into every frame. */
interface BarePage {
	send(method: string, params?: object): Promise<Record<string, unknown>>;
	/** Runs in the page, never in a frame of it. */
	evaluate(expression: string): Promise<unknown>;
	/** What the browser logged. */
	logged: string[];
}

async function openBarePage(t: ExecutionContext): Promise<BarePage> {
	const profile = await mkdtemp(path.join(os.tmpdir(), 'stowage-chromium-'));
	const chromium: ChildProcess = spawn(
		'/usr/bin/chromium',
		[...flags, `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank'],
		{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true },
	);
	const ended = once(chromium, 'close');
	t.teardown(async () => {
		// The whole process group: its children would write into the profile otherwise.
		const { pid, exitCode, signalCode } = chromium;
		if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
		await ended;
		await rm(profile, { recursive: true, force: true, maxRetries: 10 });
	});
	const input = chromium.stdio[3] as Writable;
	const output = chromium.stdio[4] as Readable;
	const logged: string[] = [];
	const pending = new Map<number, (answer: Answer) => void>();
	let rest = '';
	output.setEncoding('utf8').on('data', (chunk: string) => {
		const messages = (rest + chunk).split('\0');
		rest = messages.pop() ?? '';
		for (const message of messages) {
			const answer = JSON.parse(message) as Answer;
			if (answer.id !== undefined) pending.get(answer.id)?.(answer);
			else if (answer.method === 'Log.entryAdded') logged.push(answer.params?.entry?.text ?? '');
		}
	});
	let last = 0;
	const call = async (method: string, params: object, sessionId?: unknown) => {
		const id = ++last;
		const answered = new Promise<Answer>((resolve) => pending.set(id, resolve));
		input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
		const { result, error } = await answered;
		if (error) throw new Error(`${method}: ${error.message}`);
		return result ?? {};
	};
	const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
	const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
	const send = (method: string, params: object = {}) => call(method, params, sessionId);
	await send('Log.enable');
	return {
		send,
		logged,
		async evaluate(expression) {
			const { result } = await send('Runtime.evaluate', { expression, returnByValue: true });
			return (result as { value?: unknown }).value;
		},
	};
}

async function until(condition: () => Promise<unknown>): Promise<void> {
	for (const limit = performance.now() + timeoutMs; !(await condition()); await wait(50)) {
		if (performance.now() > limit) throw new Error(`The condition was never met: ${condition}`);
	}
}

test.serial('the frame of a document contains no script that the browser would have to block', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'letter.docx': word({ body: paragraph('Dear reader,') }) });

	const page = await openBarePage(t);
	for (const { name, value, path, secure } of await app.context.cookies()) {
		await page.send('Network.setCookie', { name, value, path, secure, url: app.url });
	}
	await page.send('Page.navigate', { url: `${app.url}/browser?type=private` });
	const row = `[...document.querySelectorAll('[data-part=name]')].find((name) => name.textContent === 'letter.docx')`;
	await until(() => page.evaluate(`!!${row}`));
	await page.evaluate(`${row}.click()`);
	const inside = `document.querySelector('iframe[src$="/viewer-frame"]')?.contentDocument?.body`;
	await until(() => page.evaluate(`${inside}?.textContent.includes('Dear reader,') ?? false`));
	const blocked = () => page.logged.filter((line) => line.startsWith('Blocked script execution'));
	t.deepEqual(blocked(), []);

	// Control: a script that the page adds is blocked, and logged.
	await page.evaluate(`${inside}.insertAdjacentHTML('beforeend', '<button onclick="top.hasRun = true">Run</button>')`);
	await page.evaluate(`${inside}.querySelector('button').click()`);
	await until(async () => blocked().length > 0);
	t.is(await page.evaluate('typeof hasRun'), 'undefined');
});
