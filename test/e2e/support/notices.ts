import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { timeoutMs } from './timeouts.js';

/** How long a notice without progress stays. */
export const noticeMs = 3000;

const recordedNotices = new WeakMap<Page, string[]>();

/** Records all notices of a page from now on, since a notice may disappear before a test checks it. */
export async function recordNotices(page: Page): Promise<void> {
	const notices: string[] = [];
	recordedNotices.set(page, notices);
	await page.exposeFunction('recordNotice', (text: string) => notices.push(text));
	await page.addInitScript(() => {
		const { recordNotice } = window as unknown as { recordNotice: (text: string) => void };
		const recorded = new WeakMap<Element, string>();
		new MutationObserver(() => {
			for (const notice of document.querySelectorAll('[aria-live=polite] > [role]')) {
				const text = (notice.textContent ?? '').replaceAll(/\s+/g, ' ');
				if (recorded.get(notice) === text || !notice.checkVisibility()) continue;
				recorded.set(notice, text);
				recordNotice(text);
			}
		}).observe(document, { subtree: true, childList: true, characterData: true });
	});
}

/** As on a page that was opened now. */
export function forgetNotices(page: Page): void {
	recordedNotices.get(page)?.splice(0);
}

/** Waits for a notice with this message and reason, unless it was recorded since the last call. */
export async function expectNotice(page: Page, message: string, reason = ''): Promise<void> {
	const notices = recordedNotices.get(page);
	if (!notices) throw new Error('The notices of this page are not recorded.');
	const limit = performance.now() + timeoutMs;
	for (;;) {
		const found = notices.findIndex((notice) => notice.includes(message) && notice.includes(reason));
		if (found >= 0) return void notices.splice(0, found + 1);
		if (performance.now() > limit)
			throw new Error(`There was no notice ${message} ${reason}, but ${notices.join(' and ')}`);
		await wait(20);
	}
}
