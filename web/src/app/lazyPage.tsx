import { type ComponentType, lazy } from 'react';

/** Those whose code could not be fetched, each with what makes it fetchable again. */
const failed = new Set<() => void>();

/** A page whose code is fetched when it is first rendered. React keeps what it has failed with, until `forgetFailedPages`. */
export function lazyPage(load: () => Promise<ComponentType>): ComponentType {
	let Loaded = fetched();
	return () => <Loaded />;

	function fetched() {
		return lazy(async () => {
			try {
				return { default: await load() };
			} catch (error) {
				failed.add(() => {
					Loaded = fetched();
				});
				throw error;
			}
		});
	}
}

/** The code of pages that could not be fetched is fetched again once they are rendered. */
export function forgetFailedPages(): void {
	for (const forget of failed) forget();
	failed.clear();
}
