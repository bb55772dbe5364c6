import { createHash } from 'node:crypto';
import type { Request, ResponseToolkit } from '@hapi/hapi';
import * as contract from '@stowage/contract';
import type { Failure } from '@stowage/rules';
import { escapeHtml } from '../escapeHtml.js';

const style = `
:root { color-scheme: dark; }
body { display: grid; min-height: 100dvh; margin: 0; background: #1c2127; }
main {
	display: grid; place-content: center; justify-items: center; padding: 24px; text-align: center;
	color: #f6f7f9; font: 15px/22px "Lexend Variable", -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
svg { width: 44px; height: 44px; margin-bottom: 24px; }
h1, p { text-wrap: balance; }
h1 { margin: 0 0 8px; font-size: 22px; font-weight: 500; line-height: 30px; }
p { max-width: 26em; margin: 0; color: #abb3bf; }
a {
	margin-top: 28px; padding: 7px 16px; border-radius: 6px; background: #2f343c; box-shadow: inset 0 0 0 1px rgb(255 255 255 / 18%);
	color: #f6f7f9; text-decoration: none;
}
a:hover { background: #383e47; }
a:focus-visible { outline: 2px solid #8abbff; outline-offset: 2px; }
`;

/** The product's sign, as in the page. */
const mark = `<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#2d72d2"/><g fill="none" stroke="#fff" stroke-width="2.6" \
stroke-linecap="round" stroke-linejoin="round"><path d="M9 17.5v4A2.5 2.5 0 0 0 11.5 24h9a2.5 2.5 0 0 0 2.5-2.5v-4"/><path d="M16 7.5V18m-4.5-4.5L16 18l4.5-4.5"/></g></svg>`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** Addresses that people get from others. */
const sent = pathsOf(contract.temporaryDownload, contract.downloadFromShare);

/** Addresses of files, which people open as they open a page. */
const files = new Set([...sent, ...pathsOf(contract.download, contract.downloadByTicket)]);

function pathsOf(...endpoints: readonly { path: string }[]): ReadonlySet<string> {
	return new Set(endpoints.map(({ path }) => path));
}

/** Whether the answer is for a person's eyes. Programs that take anything get JSON, and so do those that name a call. */
export function wantsPage({ method, path, route, raw }: Request, basePath: string): boolean {
	if (method !== 'get' || !/\btext\/html\b/i.test(raw.req.headers.accept ?? '')) return false;
	return files.has(route.path.slice(basePath.length)) || !path.startsWith(`${basePath}/api/`);
}

/** A small page with the reason why an address does not work. It runs nothing and loads nothing. */
export function failurePage(h: ResponseToolkit, failure: Failure, { route }: Request, basePath: string) {
	const advice = sent.has(route.path.slice(basePath.length)) ? linkAdvice(failure) : adviceOf(failure);
	const response = h
		.response(
			`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(titleOf(failure))} – Stowage</title>
<style>${style}</style>
<main>
${mark}
<h1>${escapeHtml(titleOf(failure))}</h1>
${advice === '' ? '' : `<p>${escapeHtml(advice)}</p>`}
<a href="${escapeHtml(`${basePath}/`)}">Go to Stowage</a>
</main>
</html>
`,
		)
		.code(failure.status)
		.type('text/html');
	const headers = {
		...failure.headers,
		'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
		'referrer-policy': 'no-referrer',
		'x-frame-options': 'DENY',
		'x-robots-tag': 'noindex',
	};
	for (const [name, value] of Object.entries(headers)) response.header(name, value);
	if (failure.retryAfter !== undefined) response.header('retry-after', String(Math.ceil(failure.retryAfter)));
	return response;
}

function titleOf({ kind, message }: Failure): string {
	return kind === 'unavailable' ? 'Not available right now' : message.replace(/\.$/, '');
}

function adviceOf({ kind }: Failure): string {
	switch (kind) {
		case 'notFound':
			return 'It may have been moved, renamed or removed.';
		case 'notSignedIn':
			return 'Sign in, and open this address again.';
		case 'unavailable':
		case 'rateLimited':
			return 'Please try again in a moment.';
		default:
			return '';
	}
}

function linkAdvice(failure: Failure): string {
	const { kind } = failure;
	if (kind === 'passwordRequired') return 'Open the share itself first, and enter its password.';
	return kind === 'expired' || kind === 'notFound'
		? 'Ask the person who sent it to you for a new one.'
		: adviceOf(failure);
}
