import { Suspense } from 'react';
import { Outlet } from 'react-router';
import { messages } from '../messages.js';
import header from '../ui/header/AppHeader.module.css';
import { ProductMark } from '../ui/header/ProductMark.js';
import { useDropGuard } from '../ui/useDropGuard.js';
import styles from './Frame.module.css';
import { PageErrorBoundary } from './PageErrorBoundary.js';

/** Surrounds the page of a share, whose visitors have no account here and are asked for none. */
export function ShareFrame() {
	useDropGuard();
	return (
		<>
			<header className={header.header}>
				<span className={header.title}>
					<ProductMark />
					<span>{messages.productName}</span>
				</span>
			</header>
			<main id="content" className={styles.main} tabIndex={-1}>
				<PageErrorBoundary>
					<Suspense>
						<Outlet />
					</Suspense>
				</PageErrorBoundary>
			</main>
		</>
	);
}
