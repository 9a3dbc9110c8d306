import Koa from 'koa';
import { MongoClient } from 'mongodb';

const [port, uri = '', database = ''] = process.argv.slice(2);
const mongo = await MongoClient.connect(uri, { maxPoolSize: 50 });
const tasks = mongo.db(database).collection<{ _id: string }>('tasks');
const koa = new Koa();
koa.use(async (context) => {
  context.body = await tasks.findOne({ _id: context.path.slice(context.path.lastIndexOf('/') + 1) });
});
koa.listen(Number(port), '127.0.0.1');
