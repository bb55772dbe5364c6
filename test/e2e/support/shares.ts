import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { desktop, openPage, phone } from './browser.js';
import { keptContext } from './contexts.js';
import type { FileManager } from './fileManager.js';

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
	const cookies = await ada.context.cookies(ada.url);
	const answer = await fetch(`${ada.origin}${address}`, {
		method,
		headers: {
			'content-type': 'application/json',
			cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
		},
		body: JSON.stringify(payload),
	});
	if (!answer.ok) throw new Error(await answer.text());
	return (await answer.json()) as T;
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
	const options = { viewport, hasTouch: isPhone, isMobile: isPhone, reducedMotion: 'reduce' } as const;
	const context = await keptContext(t, url.slice(0, url.indexOf('/s/')), options, true);
	return openPage(context, url);
}
