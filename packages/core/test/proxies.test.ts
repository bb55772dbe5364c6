import './http/caddy.test.js';
import './http/nginx.test.js';
import './http/proxies.test.js';
