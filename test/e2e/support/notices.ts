import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { patience } from './limits.js';

/** How long a notice stays that measures nothing. */
export const noticeMs = 3000;

const heard = new WeakMap<Page, string[]>();

/** Remembers from now on what the bar of a page says: a notice goes after three seconds, whether a test has looked by then or not. */
export async function hearNotices(page: Page): Promise<void> {
	const notices: string[] = [];
	heard.set(page, notices);
	await page.exposeFunction('hearNotice', (text: string) => notices.push(text));
	await page.addInitScript(() => {
		const { hearNotice } = window as unknown as { hearNotice: (text: string) => void };
		const said = new WeakMap<Element, string>();
		new MutationObserver(() => {
			for (const notice of document.querySelectorAll('[aria-live=polite] > [role]')) {
				const text = (notice.textContent ?? '').replaceAll(/\s+/g, ' ');
				if (said.get(notice) === text || !notice.checkVisibility()) continue;
				said.set(notice, text);
				hearNotice(text);
			}
		}).observe(document, { subtree: true, childList: true, characterData: true });
	});
}

/** Waits until the bar says this, and why, or has said so since it was asked the last time. */
export async function said(page: Page, message: string, reason = ''): Promise<void> {
	const notices = heard.get(page);
	if (!notices) throw new Error('Nobody listens to this page.');
	const limit = performance.now() + patience;
	for (;;) {
		const found = notices.findIndex((notice) => notice.includes(message) && notice.includes(reason));
		if (found >= 0) return void notices.splice(0, found + 1);
		if (performance.now() > limit)
			throw new Error(`The bar never says ${message} ${reason}, but ${notices.join(' and ')}`);
		await wait(20);
	}
}
