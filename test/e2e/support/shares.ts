import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { desktop, launchBrowser, openPage, phone } from './browser.js';
import type { FileManager } from './fileManager.js';
import { timeoutMs } from './timeouts.js';

export interface Chosen {
	items: string[];
	title?: string;
	message?: string;
	password?: string;
	maxDownloads?: number;
	expiresAt?: number;
	mode?: 'view' | 'upload' | 'both';
	askName?: boolean;
	maxUploadBytes?: number;
}

export interface Share {
	id: string;
	url: string;
}

/** A call of the owner. */
async function call<T>(ada: FileManager, method: string, address: string, payload: object): Promise<T> {
	const [page = await ada.context.newPage()] = ada.context.pages();
	if (!page.url().startsWith(ada.url)) await page.goto(ada.url);
	return page.evaluate(
		async ([verb, url, body]) => {
			const headers = { 'content-type': 'application/json' };
			const answer = await fetch(url, { method: verb, headers, body });
			if (!answer.ok) throw new Error(await answer.text());
			return answer.json();
		},
		[method, `${ada.url}${address}`, JSON.stringify(payload)] as const,
	);
}

/** Shares items of the home. */
export const share = (ada: FileManager, { items, mode = 'view', ...rest }: Chosen): Promise<Share> =>
	call(ada, 'POST', '/api/shares', { items: items.map((path) => ({ path })), mode, ...rest });

export const change = (ada: FileManager, { id }: Share, changes: object): Promise<Share> =>
	call(ada, 'PATCH', `/api/shares/${id}`, changes);

/** The page of a share in the browser of somebody without an account, where nothing of the owner is. */
export async function openStranger(
	t: ExecutionContext,
	{ url }: Share,
	viewport = desktop,
): Promise<{ page: Page; faults: string[] }> {
	const isPhone = viewport === phone;
	const context = await (await launchBrowser()).newContext({
		viewport,
		hasTouch: isPhone,
		isMobile: isPhone,
		reducedMotion: 'reduce',
		acceptDownloads: true,
	});
	context.setDefaultTimeout(timeoutMs);
	t.teardown(() => context.close());
	return openPage(context, url);
}
