declare module '@hapi/cookie' {
	import type { Plugin } from '@hapi/hapi';

	const cookie: { plugin: Plugin<void> };
	export default cookie;
}
