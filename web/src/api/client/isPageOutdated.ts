import { basePath } from './basePath.js';

/** Whether the server has another page by now. False while it does not answer. */
export async function isPageOutdated(signal: AbortSignal): Promise<boolean> {
	const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
	const name = script?.src.split('/').at(-1);
	if (name === undefined) return false;
	try {
		const answer = await fetch(`${basePath}/`, { cache: 'no-store', signal });
		return answer.ok && !(await answer.text()).includes(name);
	} catch {
		return false;
	}
}
