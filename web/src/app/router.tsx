import { lazy } from 'react';
import { Route, Routes } from 'react-router';
import { Frame } from './Frame.js';
import { NotFoundPage } from './NotFoundPage.js';

const LandingPage = lazy(async () => ({ default: (await import('../pages/LandingPage.js')).LandingPage }));
const BrowserPage = lazy(async () => ({ default: (await import('../pages/BrowserPage.js')).BrowserPage }));

/** Every page lies inside the frame; each is a bundle of its own. */
export function AppRoutes() {
	return (
		<Routes>
			<Route element={<Frame />}>
				<Route index element={<LandingPage />} />
				<Route path="browser/*" element={<BrowserPage />} />
				<Route path="*" element={<NotFoundPage />} />
			</Route>
		</Routes>
	);
}
