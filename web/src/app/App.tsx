import { QueryClientProvider } from '@tanstack/react-query';
import { BrowserRouter } from 'react-router';
import { basePath } from '../api/client/basePath.js';
import { UploadQueueProvider } from '../features/uploadQueue/UploadQueueProvider.js';
import { NotificationProvider } from '../ui/notifications/NotificationProvider.js';
import { queryClient } from './queryClient.js';
import { AppRoutes } from './router.js';

export function App() {
	return (
		<QueryClientProvider client={queryClient}>
			<NotificationProvider>
				<UploadQueueProvider>
					<BrowserRouter basename={basePath === '' ? '/' : basePath}>
						<AppRoutes />
					</BrowserRouter>
				</UploadQueueProvider>
			</NotificationProvider>
		</QueryClientProvider>
	);
}
