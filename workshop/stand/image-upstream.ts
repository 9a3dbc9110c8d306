import { createServer } from 'node:http';

const answer = Buffer.from(
  JSON.stringify({
    created: 1_767_225_600,
    data: [{ url: 'https://images.example.com/a-picture.png?signature=0123456789abcdef' }],
  }),
);
const server = createServer((incoming, response) => {
  incoming.resume();
  incoming.once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
});
server.keepAliveTimeout = 120_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
